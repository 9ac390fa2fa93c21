import { isClass } from '../declaration.js';
import { describeType } from './emitted-type.js';
import { KINDS, type Kind } from './kinds.js';
import type { ElementOptions } from './parameter.js';
import type { EnumMember } from './shape.js';

/* Options that would not be looked at, since another says otherwise: whoever wrote both believes that both hold. */

/** What each of the two says what is inside of. */
const HOLDERS: Readonly<Record<'items' | 'values', { readonly kinds: readonly Kind[]; readonly write: string }>> = {
  items: { kinds: ['array', 'set'], write: 'type: Array or type: Set' },
  values: { kinds: ['map', 'record'], write: 'type: Map or type: Object' },
};

/** A problem for each of `items` and `values` that `type`, `enum` or the other one leaves without a meaning. */
export function conflictProblems(where: string, options: ElementOptions): string[] {
  const { type, enum: members, items, values } = options;
  const given = (['items', 'values'] as const).filter((option) => options[option] !== undefined);
  if (members !== undefined)
    return given.map(
      (option) =>
        `${where}: enum says what the value itself is, so ${option} would not be looked at; leave ${option} out, or write ${option}: { enum: … } and no enum beside it`,
    );
  const said = KINDS.get(type);
  // What no type is at all is told elsewhere.
  const isSaid = said !== undefined || isClass(type);
  if (items !== undefined && values !== undefined && !isSaid)
    return type === undefined
      ? [`${where}: items says that it is a list, and values that it is a map or an object; leave one of them out`]
      : [];
  return given
    .filter((option) => isSaid && (said === undefined || !HOLDERS[option].kinds.includes(said)))
    .map(
      (option) =>
        `${where}: type ${describeType(type)} has no ${option}, so they would not be looked at; leave ${option} out, or write ${HOLDERS[option].write}`,
    );
}

const TAKES: ReadonlyMap<Kind, (value: string | number) => boolean> = new Map<
  Kind,
  (value: string | number) => boolean
>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', Number.isInteger],
]);

/** A problem where `type` says another kind of value than `enum` lists. */
export function enumTypeProblems(where: string, type: unknown, members: readonly EnumMember[]): string[] {
  const said = KINDS.get(type);
  const takes = said && TAKES.get(said);
  const other = takes && members.find(({ value }) => !takes(value));
  return other === undefined
    ? []
    : [
        `${where}: type says ${String(said)}, and enum lists ${JSON.stringify(other.value)}; make them agree, or leave type out`,
      ];
}
