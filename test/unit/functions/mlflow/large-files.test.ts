import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownAnswers } from '../../../../infra/aws/stacks/api/gateway-responses.ts';
import { mlflowUploadAssignments } from '../../../../shared/core/mlflow-upload-variables.ts';
import { errorBody } from '../../../../shared/mlflow/protocol/mlflow-error.ts';
import { root } from '../../../integration/records/fixture-records.ts';

const problem = { type: '', title: 'Too large', detail: '', instance: '', errors: [], message: 'Too large.' };
const [, ofGateway] = ownAnswers.find(([, { kind }]) => kind === 'too-large') ?? [];

test.each([
  { where: 'the answer of the function', text: JSON.stringify(errorBody({ ...problem, status: 413 })) },
  { where: 'the answer of API Gateway', text: ofGateway?.detail ?? '' },
  ...['README.md', 'shared/mlflow/README.md'].map((path) => ({
    where: path,
    text: readFileSync(join(root, path), 'utf8'),
  })),
])('$where names both variables by which large files go in parts', ({ text }) => {
  expect(mlflowUploadAssignments).toHaveLength(2);
  for (const assignment of mlflowUploadAssignments) expect(text).toContain(assignment);
});

test('other errors say nothing of them', () => {
  expect(JSON.stringify(errorBody({ ...problem, status: 404 }))).not.toContain('MLFLOW_');
});
