/** Put in by the bundler, from package.json. */
declare const MPS_VERSION: string | undefined;

/** The version of this command, which is that of the service it was built with; of sources that are not bundled 0.0.0. */
export const version: string = typeof MPS_VERSION === 'string' ? MPS_VERSION : '0.0.0';
