/** ONNX Runtime refused the model or the values of its inputs. The process goes on. */
export class RefusedByRuntimeError extends Error {
  override readonly name = 'RefusedByRuntimeError';
}

/** The process ended during a request, which may be the cause. */
export class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError';
}

/** The process ended because of the request before this one, or was killed from outside. Another process can answer it. */
export class SessionGoneError extends Error {
  override readonly name = 'SessionGoneError';
}
