/** A payload ends before any control character, so that the time to find it is linear. */
const payload = '[^\\u0000-\\u001f\\u007f-\\u009f]*';
/** OSC, DCS, SOS, PM and APC, up to BEL or ST: window titles, the clipboard (OSC 52), links. */
const strings = `(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])${payload}(?:\\u0007|\\u001b\\\\|\\u009c)`;
/** CSI: cursor, erasing, scrolling, colours. */
const controls = '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]';
/** ESC and the character it changes, such as a reset of the terminal. */
const escapes = '\\u001b[ -/]*[0-~]';
const rest = '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]';

const terminalControls = new RegExp([strings, controls, escapes, rest].join('|'), 'g');

/**
 * Text of strangers for a terminal: without control characters other than tab and line feed, and without the
 * sequences (ECMA-48) that they begin. Colours go too, for they can make text invisible.
 */
export const printableText = (text: string): string => text.replace(terminalControls, '');
