/** A payload ends before any control character. This keeps matching linear. */
const payload = '[^\\u0000-\\u001f\\u007f-\\u009f]*';
/** OSC, DCS, SOS, PM and APC, up to BEL or ST: window titles, the clipboard (OSC 52), links. */
const strings = `(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])${payload}(?:\\u0007|\\u001b\\\\|\\u009c)`;
/** CSI: cursor, erasing, scrolling, colours. */
const controls = '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]';
/** ESC and its final character, for example a terminal reset. */
const escapes = '\\u001b[ -/]*[0-~]';
const rest = '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]';

const terminalControls = new RegExp([strings, controls, escapes, rest].join('|'), 'g');

/**
 * Make untrusted text safe for a terminal. Removes control characters except tab and line feed, and the sequences
 * (ECMA-48) that they begin. Removes colours too, because they can make text invisible.
 */
export const printableText = (text: string): string => text.replace(terminalControls, '');
