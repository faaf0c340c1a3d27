const variables = new Set([
  'python_version',
  'python_full_version',
  'os_name',
  'sys_platform',
  'platform_release',
  'platform_system',
  'platform_version',
  'platform_machine',
  'platform_python_implementation',
  'implementation_name',
  'implementation_version',
  'extra',
]);

const operators = new Set(['<', '<=', '>', '>=', '==', '===', '!=', '~=', 'in', 'not in']);

// A quoted value may not hold ` -`, which pip takes for the start of an option wherever it stands in a line.
const token =
  /\s*([()]|===|[<>=!~]=|[<>]|not\s+in\b|[a-z_]+|"(?:[\w.+*!~,-]|\s(?!-))*"|'(?:[\w.+*!~,-]|\s(?!-))*')/y;

/**
 * Whether a text is an environment marker by the grammar of PEP 508:
 * comparisons of the twelve marker variables with quoted values, joined by `and`, `or` and brackets.
 */
export function isMarker(text: string): boolean {
  const tokens = tokenize(text.trim());
  if (tokens === null) return false;
  let at = 0;

  const value = (): boolean => {
    const next = tokens[at] ?? '';
    at += 1;
    return variables.has(next) || /^["']/.test(next);
  };
  const comparison = (): boolean => {
    if (tokens[at] !== '(') {
      if (!value() || !operators.has(tokens[at] ?? '')) return false;
      at += 1;
      return value();
    }
    at += 1;
    if (!expression()) return false;
    at += 1;
    return tokens[at - 1] === ')';
  };
  // `and` binds tighter than `or`, which matters to the meaning but not to the syntax.
  const expression = (): boolean => {
    if (!comparison()) return false;
    while (tokens[at] === 'and' || tokens[at] === 'or') {
      at += 1;
      if (!comparison()) return false;
    }
    return true;
  };
  return expression() && at === tokens.length;
}

function tokenize(text: string): string[] | null {
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    if (found === null) return null;
    tokens.push((found[1] ?? '').replace(/^not\s+in$/, 'not in'));
    // Far beyond any real marker, and it bounds the depth of the brackets.
    if (tokens.length > 400) return null;
  }
  return tokens;
}
