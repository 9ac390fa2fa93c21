// Beside the peers, so that their names lead to bench/node_modules.
export const load = (name) => import(name);
