/** Argument of a stage's program that will open sessions. It loads ONNX Runtime while it waits for its first task. */
export const sessionFlag = '--session';
