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

/**
 * Only scalar fields are accepted, so that nobody logs a whole request or record and a secret with it by accident.
 * `write` receives each finished line with its line feed.
 */
export function createLogger(least: LogLevel, write: (line: string) => void, context: Fields = {}): Logger {
  const at =
    (level: LogLevel) =>
    (code: string, fields: Fields = {}): void => {
      if (order[level] < order[least]) return;
      write(`${JSON.stringify({ time: new Date().toISOString(), level, code, ...context, ...fields })}\n`);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => createLogger(least, write, { ...context, ...fields }),
  };
}
