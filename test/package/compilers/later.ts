/**
 * A class of a file that is not evaluated yet where two files import each other. Behind this name compilers say `Object`
 * of it; by its own name they read it, and then neither file loads.
 */
export type Later<T> = T;
