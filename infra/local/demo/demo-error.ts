/** The demo cannot go on; the message tells a person why. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
}
