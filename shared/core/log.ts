export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A structured logger. Writes one JSON object per line, each with a message code for search and counting. */
export interface Logger {
  debug(code: string, fields?: Fields): void;
  info(code: string, fields?: Fields): void;
  warn(code: string, fields?: Fields): void;
  error(code: string, fields?: Fields): void;
  /** Return a logger that adds these fields to each line. */
  with(fields: Fields): Logger;
}

// JSON escapes only the C0 controls. A terminal also obeys C1 controls and bidirectional overrides.
const alsoEscaped = /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const escaped = (text: string): string =>
  text.replace(alsoEscaped, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Create a logger. It accepts only scalar fields, so nobody logs a whole request or record with its secrets by
 * accident.
 * @param write receives each complete line, including its line feed
 */
export function createLogger(least: LogLevel, write: (line: string) => void, context: Fields = {}): Logger {
  const at =
    (level: LogLevel) =>
    (code: string, fields: Fields = {}): void => {
      if (order[level] < order[least]) return;
      const line = JSON.stringify({
        timestamp: new Date().toISOString(),
        level,
        code,
        ...context,
        ...fields,
      });
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
