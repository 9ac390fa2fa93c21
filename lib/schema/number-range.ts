import type { NumberShape } from './shape.js';

/**
 * Whether any number is within the bounds, counted in decimals, as they are written: 0.3 is a multiple of 0.1. An
 * integer is one that no conversion rounds.
 */
export function hasValue({ kind, multipleOf, ...bounds }: NumberShape): boolean {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum } = bounds;
  const isInteger = kind === 'integer';
  const least = Math.max(minimum, exclusiveMinimum ?? -Infinity, isInteger ? Number.MIN_SAFE_INTEGER : -Infinity);
  const most = Math.min(maximum, exclusiveMaximum ?? Infinity, isInteger ? Number.MAX_SAFE_INTEGER : Infinity);
  const isLeastOut = least === exclusiveMinimum;
  const isMostOut = most === exclusiveMaximum;
  if (least > most || (least === most && (isLeastOut || isMostOut))) return false;
  // Of infinitely many, one is a multiple.
  if (!isInteger && (multipleOf === undefined || least === -Infinity || most === Infinity)) return true;
  const places = Math.max(...[least, most, multipleOf ?? 1].map(decimals));
  const one = 10n ** BigInt(places);
  const step = multipleOf === undefined ? one : scaled(multipleOf, places);
  const common = isInteger ? (one * step) / divisor(one, step) : step;
  const [low, high] = [scaled(least, places), scaled(most, places)];
  let first = ceiling(low, common) * common;
  if (isLeastOut && first === low) first += common;
  return isMostOut ? first < high : first <= high;
}

/** The digits of a number and how many of them are after the point; negative where zeros are left out. */
function digits(value: number): { readonly whole: bigint; readonly places: number } {
  const [mantissa = '0', exponent = '0'] = value.toString().split('e');
  const [before = '0', after = ''] = mantissa.split('.');
  return { whole: BigInt(`${before}${after}`), places: after.length - Number(exponent) };
}

const decimals = (value: number): number => Math.max(0, digits(value).places);

function scaled(value: number, places: number): bigint {
  const own = digits(value);
  return own.whole * 10n ** BigInt(places - own.places);
}

function divisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : divisor(b, a % b);
}

/** Division that rounds up; the language's own rounds to zero. */
function ceiling(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return quotient * by < value ? quotient + 1n : quotient;
}
