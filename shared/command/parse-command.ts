/** Return the arguments of a command; see `splitCommand`. @throws CommandError */
export const parseCommand = (text: string): [string, ...string[]] => splitCommand(text).words;

/** Return the arguments of a command; none if it cannot be split. */
export function commandWords(text: string): string[] {
  try {
    return parseCommand(text);
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
}

/** A parameter expansion that a shell would perform in a word: `$NAME`, `${NAME}`, `$1`. */
export interface Expansion {
  text: string;
  /** Index of the word. */
  word: number;
}

export interface SplitCommand {
  words: [string, ...string[]];
  expansions: readonly Expansion[];
}

/** State of the scan of a command line. */
interface Scan {
  words: string[];
  /** The word being read; null between words. */
  word: string | null;
  at: number;
  expansions: Expansion[];
}

/**
 * Split a command line into arguments by the quoting rules of the POSIX shell (Shell Command Language, 2.2),
 * without running or expanding anything: `$NAME`, `{…}`, `[…]` and quoted text are unchanged. Lists the parameters
 * that a shell would expand. Parameters in single quotes or after a backslash do not count.
 * @throws CommandError for a blank command, an open quote, and for unquoted shell syntax, which it names
 */
export function splitCommand(text: string): SplitCommand {
  const line = joinLines(text.replaceAll('\r\n', '\n').trim());
  if (line.includes('\0')) throw new CommandError('the command contains a NUL character');
  const scan: Scan = { words: [], word: null, at: 0, expansions: [] };
  while (scan.at < line.length) readNext(line, scan);
  if (scan.word !== null) scan.words.push(scan.word);
  const [program, ...args] = scan.words;
  if (program === undefined) throw new CommandError('the command is blank');
  if (program === '') throw new CommandError('the name of the program is empty');
  if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(line)) {
    throw new CommandError(`the command starts with a variable assignment (${program}); write env before it`);
  }
  return { words: [program, ...args], expansions: scan.expansions };
}

/**
 * Remove the line ends after a backslash. A shell removes them before any other step, so they may occur within a
 * name. In single quotes they are text.
 */
const joinLines = (text: string): string =>
  text.replace(/'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]/g, (part) =>
    part.startsWith("'") ? part : part.replace(/\\([\s\S])/g, (pair, next) => (next === '\n' ? '' : pair)),
  );

/** A command line that cannot run as written. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

function readNext(line: string, scan: Scan): void {
  const character = line.charAt(scan.at);
  scan.at += 1;
  if (character === ' ' || character === '\t') {
    if (scan.word !== null) scan.words.push(scan.word);
    scan.word = null;
  } else if (character === "'") {
    const end = line.indexOf("'", scan.at);
    if (end === -1) throw new CommandError("a quote (') is not closed");
    scan.word = (scan.word ?? '') + line.slice(scan.at, end);
    scan.at = end + 1;
  } else if (character === '"') {
    scan.word = (scan.word ?? '') + readDoubleQuoted(line, scan);
  } else if (character === '\\') {
    readEscape(line, scan);
  } else {
    refuseSyntax(line, scan, character);
    noteExpansion(line, scan);
    scan.word = (scan.word ?? '') + character;
  }
}

/** Read to the closing quote. A backslash escapes only `$`, a backtick, `"` and itself. */
function readDoubleQuoted(line: string, scan: Scan): string {
  let content = '';
  while (scan.at < line.length) {
    const character = line.charAt(scan.at);
    const next = line.charAt(scan.at + 1);
    scan.at += 1;
    if (character === '"') return content;
    if (character === '`' || (character === '$' && next === '(')) throw unsupported('a command substitution');
    if (character === '\\' && '$`"\\'.includes(next) && next !== '') {
      content += next;
      scan.at += 1;
    } else {
      noteExpansion(line, scan);
      content += character;
    }
  }
  throw new CommandError('a quote (") is not closed');
}

function unsupported(syntax: string): CommandError {
  return new CommandError(
    `the command contains ${syntax}, which needs a shell, but no shell runs it; quote it, or move it into a script`,
  );
}

const expansion = /\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}]*\}?|[0-9@*#?$!-])/y;

/** Record a parameter expansion that starts at the character just read. */
function noteExpansion(line: string, scan: Scan): void {
  expansion.lastIndex = scan.at - 1;
  const [text] = expansion.exec(line) ?? [];
  if (text !== undefined) scan.expansions.push({ text, word: scan.words.length });
}

function readEscape(line: string, scan: Scan): void {
  if (scan.at >= line.length) throw new CommandError('the command ends with a backslash');
  scan.word = (scan.word ?? '') + line.charAt(scan.at);
  scan.at += 1;
}

/** Shell operators. The program would receive them as arguments, so a command with an unquoted one is refused. */
const shellOperators: ReadonlyMap<string, string> = new Map([
  ['|', 'a pipe (|)'],
  ['&', 'an ampersand (&)'],
  [';', 'a semicolon (;)'],
  ['<', 'a redirection (<)'],
  ['>', 'a redirection (>)'],
  ['(', 'a parenthesis'],
  [')', 'a parenthesis'],
  ['`', 'a command substitution (`)'],
  ['*', 'a wildcard (*)'],
  ['?', 'a wildcard (?)'],
  ['\n', 'a line break'],
]);

function refuseSyntax(line: string, scan: Scan, character: string): void {
  const operator = shellOperators.get(character);
  if (operator !== undefined) throw unsupported(operator);
  if (character === '$' && line.charAt(scan.at) === '(') throw unsupported('a command substitution ($( ))');
  if (scan.word !== null) return;
  if (character === '#') throw unsupported('a comment (#)');
  if (character === '~' && /^(?:[/\s]|$)/.test(line.slice(scan.at))) throw unsupported('a home folder (~)');
}
