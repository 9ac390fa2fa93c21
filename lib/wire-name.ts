/** How turns travel: see the wire of that name. */
export type WireName = 'envelope' | 'union' | 'native';
