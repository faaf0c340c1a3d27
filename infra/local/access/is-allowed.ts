import { wildcards } from '../../../shared/core/text/wildcards.ts';
import type { Conditions, Statement } from '../../service/iam-statements.ts';

/** Whether IAM allows the action for a role with these statements, if no other policy denies it. */
export function isAllowed(
  statements: readonly Statement[],
  { action, resource, context }: RequestedAction,
): boolean {
  return statements.some(
    ({ actions, resources, conditions }) =>
      actions.includes(action) &&
      resources.some((pattern) => isLike(resource, pattern)) &&
      (conditions === undefined || hold(conditions, context)),
  );
}

/** A request for authorization: an action on a resource, with condition keys. */
export interface RequestedAction {
  action: string;
  /** ARN. */
  resource: string;
  /** Values of condition keys. Keys that the request does not have are missing. */
  context?: Readonly<Record<string, string | readonly string[]>>;
}

const patterns = new Map<string, RegExp>();

const maxPatterns = 1000;

/** Whether a text matches a pattern. `*` stands for any characters, `?` for one. */
function isLike(text: string, pattern: string): boolean {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = wildcards(pattern);
    if (patterns.size >= maxPatterns) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled.test(text);
}

function hold(conditions: Conditions, context: RequestedAction['context'] = {}): boolean {
  return Object.entries(conditions).every(([name, keys]) => {
    const operator = operators[name];
    if (operator === undefined) throw new Error(`the condition operator ${name} is not supported`);
    return Object.entries(keys).every(([key, wanted]) => {
      const given = context[key];
      return operator(given === undefined ? undefined : list(given), list(wanted));
    });
  });
}

/** The condition operators of our policies, as IAM defines them. */
const operators: Readonly<
  Record<string, (given: readonly string[] | undefined, wanted: readonly string[]) => boolean>
> = {
  StringLike: (given, wanted) =>
    given?.some((one) => wanted.some((pattern) => isLike(one, pattern))) ?? false,
  StringLikeIfExists: (given, wanted) =>
    given?.some((one) => wanted.some((pattern) => isLike(one, pattern))) ?? true,
  'ForAllValues:StringLike': (given = [], wanted) =>
    given.every((one) => wanted.some((pattern) => isLike(one, pattern))),
  Null: (given, wanted) => wanted.includes(String(given === undefined)),
};

const list = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;

export const bucketArn = (name: string): string => `arn:aws:s3:::${name}`;

export const tableArn = (name: string): string => `arn:aws:dynamodb:*:*:table/${name}`;
