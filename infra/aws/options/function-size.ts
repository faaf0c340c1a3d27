/** Default MiB of a function: with less, a cold start costs more than it saves. */
export const usualMemory = 512;
/** Default seconds of a function: the timeout of API Gateway. */
export const usualTimeout = 29;
