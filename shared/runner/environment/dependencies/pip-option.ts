import type { Dependency, PipOption } from './dependency.ts';

const longNames: Readonly<Record<string, PipOption>> = {
  '-i': 'index-url',
  '--index-url': 'index-url',
  '--extra-index-url': 'extra-index-url',
  '-f': 'find-links',
  '--find-links': 'find-links',
};
const withUrl = /^(-i|--index-url|--extra-index-url|-f|--find-links)(?:\s*=\s*|\s+)(\S+)$/;

/** What to do with a password that somebody was to reach a package index with. */
export const credentialAdvice =
  'whoever may see the project can read it; keep user and password in a secret variable of the project';

/** A line with an option of pip: the option, what is wrong with it, or null where it is none of the four. */
export function parsePipOption(text: string, line: number): Dependency | string | null {
  if (text === '--pre') return { kind: 'option', line, name: 'pre', value: '' };
  const [, written = '', value = ''] = withUrl.exec(text) ?? [];
  const name = longNames[written];
  if (name === undefined) return null;
  if (name === 'find-links' && !/^[a-z+]+:/i.test(value)) {
    return `${written} takes a URL here; a package of the source is a line like ./wheels/name-1.0-py3-none-any.whl`;
  }
  if (!/^https?:\/\/[^\s"'<>`{}|^]+$/i.test(value) || !URL.canParse(value)) {
    return `${written} takes the https URL of a package index`;
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') return `credentials in a URL: ${credentialAdvice}`;
  return { kind: 'option', line, name, value: url.href };
}
