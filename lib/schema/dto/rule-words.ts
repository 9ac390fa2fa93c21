import { quote } from '../quote.js';

/*
 * What class-validator's rules want, in the words that a model is told. Its own messages name the class's property and
 * repeat the value at full length.
 */

type Words = (constraints: readonly unknown[]) => string;

const said = (value: unknown): string => (value instanceof Date ? value.toISOString() : quote(value));
const list = (values: unknown): string => (Array.isArray(values) ? values.map(said).join(', ') : said(values));

const WORDS: Readonly<Record<string, string | Words>> = {
  arrayContains: ([values]) => `an array that contains ${list(values)}`,
  arrayNotContains: ([values]) => `an array without ${list(values)}`,
  arrayUnique: 'an array without repeated items',
  contains: ([seed]) => `text that contains ${said(seed)}`,
  equals: ([value]) => said(value),
  isAlpha: 'letters only',
  isAlphanumeric: 'letters and digits only',
  isAscii: 'ASCII characters only',
  isBIC: 'a BIC',
  isBase32: 'base32 text',
  isBase58: 'base58 text',
  isBase64: 'base64 text',
  isBooleanString: 'the text "true", "false", "1" or "0"',
  isByteLength: ([least, most]) =>
    `text of ${said(least)} to ${most === undefined ? 'any number of' : said(most)} bytes`,
  isCreditCard: 'a credit card number',
  isCurrency: 'an amount of money',
  isDateString: 'an ISO 8601 date',
  isDecimal: 'a decimal number as text',
  isEAN: 'an EAN',
  isEmail: 'an email address',
  isEmpty: 'nothing',
  isFqdn: 'a host name',
  isHexColor: 'a hexadecimal colour',
  isHexadecimal: 'hexadecimal text',
  isIBAN: 'an IBAN',
  isIp: ([version]) => `an IP${version === undefined ? '' : `v${quote(version)}`} address`,
  isIsbn: 'an ISBN',
  isIsin: 'an ISIN',
  isISO4217CurrencyCode: 'an ISO 4217 currency code',
  isISO6391: 'an ISO 639-1 language code',
  isIso8601: 'an ISO 8601 date',
  isISO31661Alpha2: 'an ISO 3166-1 alpha-2 country code',
  isISO31661Alpha3: 'an ISO 3166-1 alpha-3 country code',
  isIn: ([values]) => `one of ${list(values)}`,
  isJson: 'JSON text',
  isJwt: 'a JWT',
  isLatLong: 'a latitude and a longitude, separated by a comma',
  isLatitude: 'a latitude',
  isLength: ([least, most]) =>
    `text of ${said(least)} to ${most === undefined ? 'any number of' : said(most)} characters`,
  isLocale: 'a locale',
  isLongitude: 'a longitude',
  isLowercase: 'lower case only',
  isMacAddress: 'a MAC address',
  isMilitaryTime: 'a time like "09:30"',
  isMimeType: 'a MIME type',
  isMobilePhone: 'a mobile phone number',
  isMongoId: 'a MongoDB id',
  isNotEmpty: 'something that is not empty',
  isNotEmptyObject: 'an object that is not empty',
  isNotIn: ([values]) => `none of ${list(values)}`,
  isNumber: 'a finite number',
  isNumberString: 'a number as text',
  isPhoneNumber: 'a phone number with its country code',
  isPort: 'a port number',
  isPostalCode: 'a postal code',
  isRFC3339: 'an RFC 3339 date-time',
  isSemVer: 'a semantic version',
  isStrongPassword: 'a strong password',
  isTimeZone: 'an IANA time zone',
  isUppercase: 'upper case only',
  isUrl: 'a URL',
  isUuid: 'a UUID',
  matches: ([pattern]) => `text that matches ${String(pattern)}`,
  max: ([most]) => `a number of at most ${said(most)}`,
  maxDate: ([latest]) => `a moment not after ${momentOf(latest)}`,
  maxLength: ([most]) => `text of at most ${said(most)} characters`,
  min: ([least]) => `a number of at least ${said(least)}`,
  minDate: ([earliest]) => `a moment not before ${momentOf(earliest)}`,
  minLength: ([least]) => `text of at least ${said(least)} characters`,
  notContains: ([seed]) => `text without ${said(seed)}`,
  notEquals: ([value]) => `anything but ${said(value)}`,
};

/** The words of a built-in rule; none of one that is not known here. */
export function wordsOf(name: string, constraints: readonly unknown[] = []): string | undefined {
  const words = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
  return typeof words === 'function' ? words(constraints) : words;
}

/** Rules that a value of any kind may bear, or one that is no text; all others of class-validator's are of texts. */
const IMPLIED: Readonly<Record<string, 'number' | 'integer' | 'boolean' | 'date' | 'object' | 'array' | 'any'>> = {
  ...{ isInt: 'integer', isNumber: 'number', min: 'number', max: 'number', isPositive: 'number', isNegative: 'number' },
  ...{ isDivisibleBy: 'number', isBoolean: 'boolean', isDate: 'date', minDate: 'date', maxDate: 'date' },
  ...{ isObject: 'object', isInstance: 'object', isNotEmptyObject: 'object', isArray: 'array', arrayContains: 'array' },
  ...{ arrayMaxSize: 'array', arrayMinSize: 'array', arrayNotContains: 'array', arrayNotEmpty: 'array' },
  ...{ arrayUnique: 'array', equals: 'any', notEquals: 'any', isEmpty: 'any', isNotEmpty: 'any', isIn: 'any' },
  ...{ isNotIn: 'any', isEnum: 'any', isOptional: 'any', isDefined: 'any', isLatitude: 'any', isLongitude: 'any' },
};
/** Built-in rules of texts for which there are no words. */
const TEXT_RULES: ReadonlySet<string> = new Set([
  ...['IsFirebasePushId', 'isBtcAddress', 'isDataURI', 'isEthereumAddress', 'isFullWidth', 'isHSL', 'isHalfWidth'],
  ...['isHash', 'isISO31661Numeric', 'isISRC', 'isISSN', 'isIdentityCard', 'isMagnetURI', 'isMultibyte', 'isOctal'],
  ...['isPassportNumber', 'isRgbColor', 'isString', 'isSurrogatePair', 'isTaxId', 'isVariableWidth'],
]);

/** What a built-in rule says of the kind of value; nothing where it says nothing. */
export function impliedKind(
  name: string,
): 'string' | 'number' | 'integer' | 'boolean' | 'date' | 'object' | 'array' | undefined {
  const implied = Object.hasOwn(IMPLIED, name) ? IMPLIED[name] : undefined;
  if (implied !== undefined) return implied === 'any' ? undefined : implied;
  return TEXT_RULES.has(name) || Object.hasOwn(WORDS, name) ? 'string' : undefined;
}

/** Whether a rule is class-validator's own. */
export function isBuiltIn(name: string): boolean {
  return Object.hasOwn(IMPLIED, name) || Object.hasOwn(WORDS, name) || TEXT_RULES.has(name);
}

/** A bound may be a function, asked at each call. */
function momentOf(bound: unknown): string {
  return bound instanceof Date ? bound.toISOString() : 'the bound that applies';
}
