import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import { acknowledged } from './acknowledged.ts';
import { deployment } from './synthesized.ts';

const { app } = await deployment();

interface Finding {
  rule: string;
  path: string;
}

const report = new AwsSolutionsChecks().validateScope(app);
const findings = report.violations.flatMap(({ ruleName, violatingResources }) =>
  violatingResources.map(({ constructPath }): Finding => ({ rule: ruleName, path: constructPath ?? '' })),
);

const explains = ({ rule, at }: (typeof acknowledged)[number], finding: Finding): boolean =>
  rule.test(finding.rule) && at.test(finding.path);

test('every finding of the AwsSolutions rules has a written reason', () => {
  const open = findings.filter((finding) => !acknowledged.some((reason) => explains(reason, finding)));
  expect(open).toEqual([]);
});

test('every reason has a finding', () => {
  const idle = acknowledged.filter((reason) => !findings.some((finding) => explains(reason, finding)));
  expect(idle).toEqual([]);
});
