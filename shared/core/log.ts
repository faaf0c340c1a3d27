export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A structured logger: one JSON object a line, each with a message code that can be searched and counted. */
export interface Logger {
  debug(code: string, fields?: Fields): void;
  info(code: string, fields?: Fields): void;
  warn(code: string, fields?: Fields): void;
  error(code: string, fields?: Fields): void;
  /** A logger that adds these fields to each of its lines. */
  with(fields: Fields): Logger;
}

// JSON escapes the C0 controls alone. A terminal obeys C1 controls too, and shows what overrides its direction.
const alsoEscaped = /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const escaped = (text: string): string =>
  text.replace(alsoEscaped, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Only scalar fields are accepted, so that nobody logs a whole request or record and a secret with it by accident.
 * `write` receives each finished line with its line feed.
 */
export function createLogger(least: LogLevel, write: (line: string) => void, context: Fields = {}): Logger {
  const at =
    (level: LogLevel) =>
    (code: string, fields: Fields = {}): void => {
      if (order[level] < order[least]) return;
      const line = JSON.stringify({ time: new Date().toISOString(), level, code, ...context, ...fields });
      write(`${escaped(line)}\n`);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => createLogger(least, write, { ...context, ...fields }),
  };
}
