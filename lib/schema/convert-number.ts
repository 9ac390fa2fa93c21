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
  return (sent, path, lines) => {
    const value =
      typeof sent === 'number' ? sent : typeof sent === 'string' && INTEGER.test(sent) ? Number(sent) : Number.NaN;
    // Adding 0 makes -0 a 0.
    if (Number.isSafeInteger(value) && isWithin(value)) return value + 0;
    const isBeyond = typeof sent === 'bigint' || Number.isInteger(value) || Math.abs(value) === Infinity;
    const isUnsafe = isBeyond && !hasBounds(shape) && !Number.isSafeInteger(value);
    return wrong(lines, path, isUnsafe ? SAFE_RANGE : expected, sent);
  };
}

export function numberConverter(shape: NumberShape): Converter {
  const expected = expectedNumber(shape);
  const isWithin = withinBounds(shape);
  return (sent, path, lines) => {
    if (typeof sent === 'bigint') return wrong(lines, path, EXACT, sent);
    const value =
      typeof sent === 'number' ? sent : typeof sent === 'string' && NUMBER.test(sent) ? Number(sent) : Number.NaN;
    // Written out in full, digits beyond 2^53 would be lost unnoticed; with an exponent nobody means them.
    const isInexact = typeof sent === 'string' && Math.abs(value) > Number.MAX_SAFE_INTEGER && !/[eE]/.test(sent);
    if (isInexact) return wrong(lines, path, EXACT, sent);
    return Number.isFinite(value) && isWithin(value) ? value + 0 : wrong(lines, path, expected, sent);
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

/** 0.3 is a multiple of 0.1 to everybody but the processor. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient));
}
