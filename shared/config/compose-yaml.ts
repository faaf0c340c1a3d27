import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';
import { ConfigSyntaxError, positionAt } from './config-syntax-error.ts';
import { maxConfigDepth } from './config-value.ts';

/**
 * Parse one YAML document into nodes. Limit nesting while reading tokens, before any recursive code. Use the YAML
 * 1.2 schema for every `%YAML` directive: `yes` and `2024-01-01` are strings. Ignore tags beyond that schema and
 * keep their values.
 */
export function composeYaml(
  text: string,
  { keepSourceTokens = false }: { keepSourceTokens?: boolean } = {},
): Document.Parsed | undefined {
  const composer = new Composer({
    schema: 'core',
    resolveKnownTags: false,
    merge: false,
    intAsBigInt: true,
    // The library's check compares each key with all others. The conversion uses a set instead.
    uniqueKeys: false,
    keepSourceTokens,
  });
  const documents = [...composer.compose(tokens(text))];
  const document = documents.find(isParsed);
  const error = document?.errors[0] ?? composer.streamInfo().errors[0];
  if (error !== undefined) throw new ConfigSyntaxError(error.message, positionAt(text, error.pos[0]));
  return document;
}

/** Limit of the parser's stack, which also holds the document and the current key or value. */
const maxStack = maxConfigDepth + 3;

function* tokens(text: string): Generator<CST.Token, void> {
  const parser = new Parser();
  let documents = 0;
  function* checked(read: Iterable<CST.Token>): Generator<CST.Token, void> {
    for (const token of read) {
      if (token.type === 'document') documents += 1;
      if (documents > 1)
        throw new ConfigSyntaxError(
          'a second document starts here; one file holds one document',
          positionAt(text, token.offset),
        );
      yield token;
    }
  }
  for (const lexeme of new Lexer().lex(text)) {
    yield* checked(parser.next(lexeme));
    if (parser.stack.length > maxStack) {
      throw new ConfigSyntaxError(
        `nested deeper than ${maxConfigDepth} levels`,
        positionAt(text, parser.offset),
      );
    }
  }
  yield* checked(parser.end());
}

function isParsed(document: Document | Document.Parsed): document is Document.Parsed {
  return 'range' in document;
}
