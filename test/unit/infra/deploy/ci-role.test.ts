import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const template = await readFile(
  join(import.meta.dirname, '../../../../infra/aws/deploy/ci-role.yaml'),
  'utf8',
);
const [, pattern = ''] = /AllowedPattern: "(repo:.+)"/.exec(template) ?? [];
/** CloudFormation compares the whole value. */
const isTaken = (subject: string): boolean => new RegExp(`^(?:${pattern})$`).test(subject);

test.each([
  'repo:octo/digits:environment:production',
  'repo:octo@123/digits@456:environment:production',
  'repo:octo-org@123/digits.v2@456:ref:refs/heads/*',
])('the role of CI takes the subject %s', (subject) => {
  expect(isTaken(subject)).toBe(true);
});

test.each([
  'repo:octo@123/digits:environment:production',
  'repo:octo/digits@456:environment:production',
  'repo:octo@x/digits@456:environment:production',
  'repo:octo/*:environment:production',
  'repo:*',
  'repo:octo/digits',
  'repo:octo@123/digits@456:',
])('the role of CI refuses the subject %s', (subject) => {
  expect(isTaken(subject)).toBe(false);
});
