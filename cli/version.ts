/** Defined by the bundler, from package.json. */
declare const MPS_VERSION: string | undefined;

/** Version of this command, equal to its service's version; 0.0.0 when it runs from unbundled sources. */
export const version: string = typeof MPS_VERSION === 'string' ? MPS_VERSION : '0.0.0';
