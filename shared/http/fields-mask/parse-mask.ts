import { ServiceError } from '../../core/service-error.ts';

/** A parsed `X-Fields` mask: the names to show, each completely or with its own mask. */
export type FieldsMask = ReadonlyMap<string, true | FieldsMask>;

type Fields = Map<string, true | FieldsMask>;

// Names match Python's \w, the letters and digits of every script. Any other character separates names.
const token = /[{},]|[\p{L}\p{N}_:*-]+/gu;

/**
 * Parse a mask by the grammar of Flask-RESTX ("Fields masks" in its documentation). Where the documentation says
 * nothing, follow its behaviour: commas between names are optional, commas may trail, and the last mention of a
 * name wins. Throw a 400 problem "Mask parse error: …".
 */
export function parseMask(text: string): FieldsMask {
  const root: Fields = new Map();
  const outer: Fields[] = [];
  let fields = root;
  let previous: string | undefined;
  for (const [lexeme] of withoutOuterBraces(text).matchAll(token)) {
    if (lexeme === '{') {
      if (previous === undefined || '{},'.includes(previous))
        throw parseProblem('Unexpected opening bracket');
      const nested: Fields = new Map();
      fields.set(previous, nested);
      outer.push(fields);
      fields = nested;
    } else if (lexeme === '}') {
      const enclosing = outer.pop();
      if (enclosing === undefined) throw parseProblem('Unexpected closing bracket');
      fields = enclosing;
    } else if (lexeme === ',') {
      if (previous === undefined || previous === ',' || previous === '{')
        throw parseProblem('Unexpected comma');
    } else {
      fields.set(lexeme, true);
    }
    previous = lexeme;
  }
  if (outer.length > 0) throw parseProblem('Missing closing bracket');
  return root;
}

/** Return the text without its optional outer braces. Only the first and last characters decide. */
function withoutOuterBraces(text: string): string {
  const trimmed = text.replaceAll('\n', '').trim();
  if (!trimmed.startsWith('{')) return trimmed;
  if (!trimmed.endsWith('}')) throw parseProblem('Missing closing bracket');
  return trimmed.slice(1, -1);
}

function parseProblem(
  reason:
    | 'Unexpected comma'
    | 'Unexpected opening bracket'
    | 'Unexpected closing bracket'
    | 'Missing closing bracket',
): ServiceError {
  return maskProblem(`Mask parse error: ${reason}`);
}

/** Return the 400 error for a mask, in the words of Flask-RESTX, which its clients recognise. */
export function maskProblem(message: string): ServiceError {
  return new ServiceError('bad-request', message, { errors: [{ in: 'header', name: 'X-Fields', message }] });
}
