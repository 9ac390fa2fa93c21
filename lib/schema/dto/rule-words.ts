import { membersOf } from '../kinds.js';
import { quote } from '../quote.js';

/*
 * What class-validator's rules want, in the words that a model is told. Its own messages name the class's property and
 * repeat the value at full length.
 */

type Words = (constraints: readonly unknown[]) => string;

const MAX_VALUES = 20;

export const said = (value: unknown): string => (value instanceof Date ? momentText(value) : quote(value));

function list(values: unknown): string {
  if (!Array.isArray(values)) return said(values);
  const shown = (values as unknown[]).slice(0, MAX_VALUES).map(said).join(', ');
  return values.length > MAX_VALUES ? `${shown}, …` : shown;
}

/** An option of a rule's; rules take an object of them or, some, nothing. */
function option(options: unknown, name: string): unknown {
  return typeof options === 'object' && options !== null ? (options as Record<string, unknown>)[name] : undefined;
}

/** ` of DE`: a country, a locale, a version; nothing where any will do. */
function of(which: unknown, words = ' of '): string {
  const named = (Array.isArray(which) ? which : [which]).filter(
    (one): one is string | number =>
      (typeof one === 'string' && one !== 'any' && one !== 'all') || Number.isFinite(one),
  );
  return named.length === 0 ? '' : `${words}${named.join(' or ')}`;
}

const between = (least: unknown, most: unknown, unit: string): string =>
  `text of ${most === undefined ? `at least ${said(least ?? 0)}` : `${said(least ?? 0)} to ${said(most)}`} ${unit}`;

const WORDS: Readonly<Record<string, string | Words>> = {
  IsFirebasePushId: 'a Firebase push id',
  arrayContains: ([values]) => `an array that contains ${list(values)}`,
  arrayMaxSize: ([most]) => `an array of at most ${said(most)} items`,
  arrayMinSize: ([least]) => `an array of at least ${said(least)} items`,
  arrayNotContains: ([values]) => `an array without ${list(values)}`,
  arrayNotEmpty: 'an array that is not empty',
  arrayUnique: 'an array without repeated items',
  contains: ([seed]) => `text that contains ${said(seed)}`,
  equals: ([value]) => said(value),
  isAlpha: ([locale]) => `letters only${of(locale)}`,
  isAlphanumeric: ([locale]) => `letters and digits only${of(locale)}`,
  isArray: 'an array',
  isAscii: 'ASCII characters only',
  isBIC: 'a BIC',
  isBase32: 'base32 text',
  isBase58: 'base58 text',
  isBase64: ([options]) => (option(options, 'urlSafe') === true ? 'URL-safe base64 text' : 'base64 text'),
  isBoolean: 'true or false',
  isBooleanString: 'the text "true", "false", "1" or "0"',
  isBtcAddress: 'a Bitcoin address',
  isByteLength: ([least, most]) => between(least, most, 'bytes'),
  isCreditCard: 'a credit card number',
  isCurrency: ([options]) =>
    option(options, 'require_symbol') === true
      ? `an amount of money with the sign ${said(option(options, 'symbol') ?? '$')}`
      : 'an amount of money',
  isDataURI: 'a data URI',
  isDate: 'a date',
  isDateString: 'an ISO 8601 date',
  isDecimal: ([options]) => `a decimal number as text${decimalPlaces(option(options, 'decimal_digits'))}`,
  isDefined: 'a value',
  isDivisibleBy: ([of]) => `a multiple of ${said(of)}`,
  isEAN: 'an EAN',
  isEmail: ([options]) => `an email address${of(option(options, 'host_whitelist'), ' at ')}`,
  isEmpty: 'nothing',
  isEnum: ([entity]) => `one of ${enumText(entity)}`,
  isEthereumAddress: 'an Ethereum address',
  isFqdn: 'a host name',
  isFullWidth: 'text with full-width characters',
  isHSL: 'an HSL colour',
  isHalfWidth: 'text with half-width characters',
  isHash: ([algorithm]) => `a hash${of(algorithm, ' by ')} in hexadecimal`,
  isHexColor: 'a hexadecimal colour',
  isHexadecimal: 'hexadecimal text',
  isIBAN: 'an IBAN',
  isISO31661Alpha2: 'an ISO 3166-1 alpha-2 country code',
  isISO31661Alpha3: 'an ISO 3166-1 alpha-3 country code',
  isISO31661Numeric: 'an ISO 3166-1 numeric country code',
  isISO4217CurrencyCode: 'an ISO 4217 currency code',
  isISO6391: 'an ISO 639-1 language code',
  isISRC: 'an ISRC',
  isISSN: ([options]) => (option(options, 'require_hyphen') === true ? 'an ISSN with its hyphen' : 'an ISSN'),
  isIdentityCard: ([locale]) => `an identity card number${of(locale)}`,
  isIn: ([values]) => `one of ${list(values)}`,
  isInstance: 'an object of another kind',
  isInt: 'an integer',
  isIp: ([version]) => `an IP${version === undefined ? '' : `v${quote(version).replaceAll('"', '')}`} address`,
  isIsbn: ([version]) => `an ISBN${of(version, '-')}`,
  isIsin: 'an ISIN',
  isIso8601: ([options]) =>
    option(options, 'strict') === true ? 'an ISO 8601 date that exists in the calendar' : 'an ISO 8601 date',
  isJson: 'JSON text',
  isJwt: 'a JWT',
  isLatLong: 'a latitude and a longitude, separated by a comma',
  isLatitude: 'a latitude',
  isLength: ([least, most]) => between(least, most, 'characters'),
  isLocale: 'a locale',
  isLongitude: 'a longitude',
  isLowercase: 'lower case only',
  isMacAddress: ([options]) =>
    option(options, 'no_separators') === true || option(options, 'no_colons') === true
      ? 'a MAC address without separators'
      : 'a MAC address',
  isMagnetURI: 'a magnet URI',
  isMilitaryTime: 'a time like "09:30"',
  isMimeType: 'a MIME type',
  isMobilePhone: ([locale]) => `a mobile phone number${of(locale)}`,
  isMongoId: 'a MongoDB id',
  isMultibyte: 'text with multibyte characters',
  isNegative: 'a number below 0',
  isNotEmpty: 'something that is not empty',
  isNotEmptyObject: 'an object that is not empty',
  isNotIn: ([values]) => `none of ${list(values)}`,
  isNumber: ([options]) => {
    const places = option(options, 'maxDecimalPlaces');
    return places === undefined ? 'a number' : `a number with at most ${said(places)} decimal places`;
  },
  isNumberString: ([options]) => (option(options, 'no_symbols') === true ? 'digits only' : 'a number as text'),
  isObject: 'an object',
  isOctal: 'an octal number as text',
  isOptional: 'a value or nothing',
  isPassportNumber: ([country]) => `a passport number${of(country)}`,
  isPhoneNumber: ([region]) =>
    region === undefined ? 'a phone number with its country code' : `a phone number${of(region)}`,
  isPort: 'a port number',
  isPositive: 'a number above 0',
  isPostalCode: ([locale]) => `a postal code${of(locale)}`,
  isRFC3339: 'an RFC 3339 date-time',
  isRgbColor: 'an RGB colour like "rgb(0,128,255)"',
  isSemVer: 'a semantic version',
  isString: 'a string',
  isStrongPassword: ([options]) => strongPassword(options),
  isSurrogatePair: 'text with a character beyond the first 65,536 of Unicode',
  isTaxId: ([locale]) => `a tax number${of(locale ?? 'en-US')}`,
  isTimeZone: 'an IANA time zone',
  isUppercase: 'upper case only',
  isUrl: ([options]) => {
    const protocols = of(option(options, 'protocols'), ' with ');
    return `a URL${protocols === '' && option(options, 'require_protocol') === true ? ' with its protocol' : protocols}`;
  },
  isUuid: ([version]) => `a UUID${of(version, ' of version ')}`,
  isVariableWidth: 'text with full-width and half-width characters',
  matches: ([pattern]) => `text that matches ${String(pattern)}`,
  max: ([most]) => `a number of at most ${said(most)}`,
  maxDate: ([latest]) => `a moment not after ${momentOf(latest)}`,
  maxLength: ([most]) => `text of at most ${said(most)} characters`,
  min: ([least]) => `a number of at least ${said(least)}`,
  minDate: ([earliest]) => `a moment not before ${momentOf(earliest)}`,
  minLength: ([least]) => `text of at least ${said(least)} characters`,
  nestedValidation: 'an object',
  notContains: ([seed]) => `text without ${said(seed)}`,
  notEquals: ([value]) => `anything but ${said(value)}`,
};

/** The words of a built-in rule; none of one that is not known here. */
export function wordsOf(name: string, constraints: readonly unknown[] = []): string | undefined {
  const words = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
  return typeof words === 'function' ? words(constraints) : words;
}

/** Whether a rule is class-validator's own. */
export function isBuiltIn(name: string): boolean {
  return Object.hasOwn(WORDS, name);
}

function momentText(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'no moment' : date.toISOString();
}

/** A bound may be a function, asked at each call. */
function momentOf(bound: unknown): string {
  return bound instanceof Date ? momentText(bound) : 'the bound that applies';
}

/** By their values, with the names of those that are numbers: what is checked is the value. */
function enumText(entity: unknown): string {
  if (Array.isArray(entity)) return list(entity);
  const members = membersOf((entity ?? {}) as Readonly<Record<string, string | number>>).map(({ word, value }) =>
    typeof value === 'number' ? `${value.toString()} (${word})` : said(value),
  );
  const shown = [...new Set(members)];
  return `${shown.slice(0, MAX_VALUES).join(', ')}${shown.length > MAX_VALUES ? ', …' : ''}`;
}

/** validator.js has them as "2", "1,3" or "1,". */
function decimalPlaces(digits: unknown): string {
  if (typeof digits !== 'string') return '';
  const [least = '', most] = digits.split(',');
  const places = (count: string): string => `${count} decimal place${count === '1' ? '' : 's'}`;
  if (most === undefined) return ` with ${places(least)}`;
  return most === '' ? ` with at least ${places(least)}` : ` with ${least} to ${places(most)}`;
}

const PASSWORD = [
  ['minLowercase', 'lower case letter'],
  ['minUppercase', 'upper case letter'],
  ['minNumbers', 'digit'],
  ['minSymbols', 'symbol'],
] as const;

/** With the defaults of validator.js. */
function strongPassword(options: unknown): string {
  const count = (name: string, otherwise: number): number => {
    const value = option(options, name);
    return typeof value === 'number' ? value : otherwise;
  };
  const parts = PASSWORD.flatMap(([name, what]) => {
    const least = count(name, 1);
    return least > 0 ? [`${least.toString()} ${what}${least === 1 ? '' : 's'}`] : [];
  });
  const least = `a password of at least ${count('minLength', 8).toString()} characters`;
  return parts.length === 0 ? least : `${least} with at least ${parts.join(', ')}`;
}
