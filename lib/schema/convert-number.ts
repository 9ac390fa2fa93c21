import { expectedNumber, hasBounds } from './expected.js';
import { type Converter, wrong } from './converter.js';
import type { NumberShape } from './shape.js';

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const SAFE_RANGE = `an integer from ${Number.MIN_SAFE_INTEGER.toString()} to ${Number.MAX_SAFE_INTEGER.toString()}`;
const EXACT = `a number that is exact, so ${SAFE_RANGE} or a decimal`;

export function integerConverter(shape: NumberShape): Converter {
  const expected = expectedNumber(shape);
  const isWithin = withinBounds(shape);
  return (sent, path, findings) => {
    const value =
      typeof sent === 'number' ? sent : typeof sent === 'string' && INTEGER.test(sent) ? Number(sent) : Number.NaN;
    // Adding 0 makes -0 a 0.
    if (Number.isSafeInteger(value) && isWithin(value)) return value + 0;
    const isBeyond = typeof sent === 'bigint' || Number.isInteger(value) || Math.abs(value) === Infinity;
    const isUnsafe = isBeyond && !hasBounds(shape) && !Number.isSafeInteger(value);
    return wrong(findings, path, isUnsafe ? SAFE_RANGE : expected, sent);
  };
}

export function numberConverter(shape: NumberShape): Converter {
  const expected = expectedNumber(shape);
  const isWithin = withinBounds(shape);
  return (sent, path, findings) => {
    if (typeof sent === 'bigint') return wrong(findings, path, EXACT, sent);
    const value =
      typeof sent === 'number' ? sent : typeof sent === 'string' && NUMBER.test(sent) ? Number(sent) : Number.NaN;
    // Written out in full, digits beyond 2^53 would be lost unnoticed; with an exponent nobody means them.
    const isInexact = typeof sent === 'string' && Math.abs(value) > Number.MAX_SAFE_INTEGER && !/[eE]/.test(sent);
    if (isInexact) return wrong(findings, path, EXACT, sent);
    return Number.isFinite(value) && isWithin(value) ? value + 0 : wrong(findings, path, expected, sent);
  };
}

function withinBounds(shape: NumberShape): (value: number) => boolean {
  const { minimum = -Infinity, maximum = Infinity, multipleOf } = shape;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = shape;
  const isBetween = (value: number): boolean =>
    value >= minimum &&
    value <= maximum &&
    (value > exclusiveMinimum || exclusiveMinimum === -Infinity) &&
    (value < exclusiveMaximum || exclusiveMaximum === Infinity);
  return multipleOf === undefined ? isBetween : (value) => isBetween(value) && isMultiple(value, multipleOf);
}

/** 0.3 is a multiple of 0.1 to everybody but the processor: compared are the decimals that are written, without rounding. */
function isMultiple(value: number, of: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(of)) return value % of === 0;
  const [left, right] = [decimalOf(value), decimalOf(of)];
  const scale = Math.max(left.scale, right.scale);
  const whole = ({ digits, scale: own }: Decimal): bigint => digits * 10n ** BigInt(scale - own);
  return whole(left) % whole(right) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** The shortest decimal that is this number, as JavaScript writes it. */
function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = value.toString().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}
