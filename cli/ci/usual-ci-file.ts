/** File that `mps ci` reads without arguments. */
export const usualCiFile = '.mps/ci.yaml';
