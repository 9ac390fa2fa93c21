/** Whose a binding is, by how long that lives: of a container above the application, the application's, a scope's. */
export type Rank = typeof ABOVE | typeof APPLICATIONS | typeof SCOPES;

export const ABOVE = 0;
export const APPLICATIONS = 1;
export const SCOPES = 2;
