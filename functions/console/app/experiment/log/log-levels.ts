/** Log line in the service's JSON. */
export interface LogLine {
  time: string;
  stream: 'stdout' | 'stderr' | 'service';
  message: string;
}

export type Level = 'error' | 'warning' | 'debug' | 'service' | 'plain';

/** Characters at the beginning of a line in which to search for a level. */
const maxHead = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours begin with an escape
const terminalCodes = /\u001b\[[0-9;?]*[A-Za-z]/g;
const errors = /\b(?:ERROR|CRITICAL|FATAL|Traceback|[A-Z]\w*(?:Error|Exception))\b/;
const warnings = /\bWARN(?:ING)?\b|\w+Warning\b/;
const debugs = /\bDEBUG\b|\bTRACE\b/;

export const plainText = (message: string): string =>
  message.includes('\u001b') ? message.replace(terminalCodes, '') : message;

function levelOfText(text: string): Level {
  if (errors.test(text)) return 'error';
  if (warnings.test(text)) return 'warning';
  return debugs.test(text) ? 'debug' : 'plain';
}

/** First line of a Python traceback, after an optional prefix of a logger or launcher. */
const begin = /^(.*?)(?:[ +|]*)(?:Exception Group )?Traceback \(most recent call last\):/;
/** The sentence between two tracebacks. Python prints it if an error was raised while it handled another one. */
const between = /^(?:During handling of the above exception|The above exception was the direct cause)/;
/** Stack frames of JavaScript and Java, and of a Python traceback without its first line. */
const frame = /^\s+(?:at \S|File ".+", line \d+|\.{3} \d+ more$)/;
const cause = /^Caused by: /;
const warningOfPython = /^.+:\d+: \w*Warning: /;

/** The block that a stream is in. The block decides the level of the next line. */
type Within =
  | { block: 'none' | 'frames' | 'warning' }
  /** A Python traceback. First come the frames, then the error. A sentence may follow, and another traceback. */
  | { block: 'traceback' | 'ended'; prefix: string };

/** Assign levels to log lines in order. A traceback is one error from its first line to its last. */
export class LogLevels {
  #within = new Map<LogLine['stream'], Within>();

  levelOf({ stream, message }: LogLine): Level {
    if (stream === 'service') return 'service';
    const text = plainText(message.slice(0, maxHead));
    const { level, within } = next(text, this.#within.get(stream) ?? { block: 'none' });
    this.#within.set(stream, within);
    return level;
  }
}

function next(text: string, within: Within): { level: Level; within: Within } {
  const [isBegin, prefix = ''] = begin.exec(text) ?? [];
  if (isBegin !== undefined) return { level: 'error', within: { block: 'traceback', prefix } };
  if ('prefix' in within) {
    const lead = within.prefix === '' ? '' : `${within.prefix} `;
    const rest = text.startsWith(lead) ? text.slice(lead.length) : text;
    if (within.block === 'traceback') {
      // Frames and source lines are indented. The line after them is the error itself.
      if (/^\s+\S/.test(rest) || rest.trim() === '') return { level: 'error', within };
      return { level: 'error', within: { ...within, block: 'ended' } };
    }
    if (between.test(rest)) return { level: 'error', within };
    if (rest.trim() === '') return { level: 'error', within };
  }
  if (frame.test(text)) return { level: 'error', within: { block: 'frames' } };
  if (within.block === 'frames' && cause.test(text)) return { level: 'error', within };
  // Python prints the source line below a warning.
  if (within.block === 'warning' && /^\s+\S/.test(text))
    return { level: 'warning', within: { block: 'none' } };
  const level = levelOfText(text);
  return { level, within: { block: level === 'warning' && warningOfPython.test(text) ? 'warning' : 'none' } };
}
