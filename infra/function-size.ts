/** MiB of a function that says nothing else: at less, a cold start takes longer than it saves. */
export const usualMemory = 512;
/** Seconds of a function that says nothing else: what API Gateway waits for. */
export const usualTimeout = 29;
