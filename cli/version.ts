/** Put in by the bundler, from package.json. */
declare const MPS_VERSION: string;

/** The version of this command, which is that of the service it was built with. */
export const version: string = MPS_VERSION;
