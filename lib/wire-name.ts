/** How turns travel: see the wire of that name. */
export type WireName = 'envelope' | 'union' | 'native';

export const WIRE_NAMES: readonly WireName[] = ['envelope', 'union', 'native'];
