// Misuse that must not compile: `tsc` fails where an expected error does not come.
import * as z from 'zod';
import { readObjects } from '../../shared/aws/needs.ts';
import { createUser } from '../../shared/data/accounts/user.ts';
import {
  createProject,
  listProjects,
  type Project,
  requireProject,
} from '../../shared/data/projects/project.ts';
import { readAccounts, readRecords, writeAccounts, writeRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';

declare const project: Project;

const route = {
  name: 'readSomething',
  method: 'GET',
  path: '/something/{project_id}',
  summary: 'Something',
} as const;

const Something = z.object({ id: z.string(), size: z.number() });
const something = { id: 'a', size: 1 };
const path = z.strictObject({ project_id: z.string() });

export const writesWhatItNeeds = defineEndpoint({
  ...route,
  allow: 'developer',
  needs: { records: writeRecords },
  input: {},
  output: { 200: Something },
  async handle(_, { records }) {
    await createProject(records, project);
    return something;
  },
});

export const writesUnderAReadOnlyNeed = defineEndpoint({
  ...route,
  allow: 'developer',
  needs: { records: readRecords },
  input: {},
  output: { 200: Something },
  async handle(_, { records }) {
    // @ts-expect-error a reader of records cannot write them
    await createProject(records, project);
    // @ts-expect-error nor has it the method that does
    await records.write({ delete: { pk: '', sk: '' } });
    return something;
  },
});

// @ts-expect-error nobody says who may call
export const hasNoRule = defineEndpoint({
  ...route,
  needs: {},
  input: {},
  output: { 200: Something },
  async handle() {
    return something;
  },
});

export const hasAnUnknownRule = defineEndpoint({
  ...route,
  // @ts-expect-error there is no such account type
  allow: 'everybody',
  needs: {},
  input: {},
  output: { 200: Something },
  async handle() {
    return something;
  },
});

export const answersAnotherShape = defineEndpoint({
  ...route,
  allow: 'viewer',
  needs: {},
  input: {},
  output: { 200: Something },
  // @ts-expect-error `size` is a number
  async handle() {
    return { id: 'a', size: 'large' };
  },
});

export const answersTooLittleInAReply = defineEndpoint({
  ...route,
  allow: 'viewer',
  needs: {},
  input: {},
  output: { 200: Something },
  // @ts-expect-error `size` is missing
  async handle() {
    return Reply.json({ id: 'a' }, { version: 1 });
  },
});

export const answersJsonThatIsNotDeclared = defineEndpoint({
  ...route,
  allow: 'viewer',
  needs: {},
  input: {},
  output: { 200: content(['image/png']) },
  // @ts-expect-error it answers pictures only
  async handle() {
    return something;
  },
});

export const usesWhatItDoesNotNeed = defineEndpoint({
  ...route,
  allow: 'viewer',
  needs: { records: readRecords },
  input: {},
  output: { 200: Something },
  // @ts-expect-error there are no objects among the needs
  async handle(_, { objects }) {
    await objects.head('key');
    return something;
  },
});

export const readsUnderAReadOnlyNeed = defineEndpoint({
  ...route,
  allow: 'viewer',
  needs: { objects: readObjects },
  input: {},
  output: { 200: Something },
  async handle(_, { objects }) {
    await objects.head('key');
    // @ts-expect-error a reader of objects gives no leave to upload
    await objects.presignUpload('key', 1, 'sha256');
    return something;
  },
});

export const hasTheProjectThatItsRuleIsAbout = defineEndpoint({
  ...route,
  allow: 'viewer',
  project: 'viewer',
  needs: {},
  input: { path },
  output: { 200: Something },
  async handle({ path: { project_id } }, { project }) {
    return { id: project.owner ?? project_id, size: 1 };
  },
});

export const hasNoProjectWithoutARule = defineEndpoint({
  ...route,
  allow: 'viewer',
  needs: {},
  input: { path },
  output: { 200: Something },
  // @ts-expect-error only a rule about the project reads it
  async handle(_, { project }) {
    return { id: project.project_id, size: 1 };
  },
});

export const confusesTheTables = defineEndpoint({
  ...route,
  allow: 'viewer',
  needs: { accounts: readAccounts, records: writeRecords },
  input: {},
  output: { 200: Something },
  async handle(_, { accounts, records }) {
    // @ts-expect-error projects are not among the accounts
    await requireProject(accounts, 'id');
    // @ts-expect-error nor are they listed there
    await listProjects(accounts, { limit: 1, after: undefined });
    const user = {
      ...project,
      user_id: '',
      username: '',
      account_type: 'guest',
      credentials_version: 1,
    } as const;
    // @ts-expect-error users are not among the records
    await createUser(records, user, 'hash');
    return something;
  },
});

export const keepsAccountsWhereTheyBelong = defineEndpoint({
  ...route,
  allow: 'admin',
  needs: { accounts: writeAccounts },
  input: {},
  output: { 200: Something },
  async handle(_, { accounts }) {
    const user = {
      ...project,
      user_id: '',
      username: '',
      account_type: 'guest',
      credentials_version: 1,
    } as const;
    await createUser(accounts, user, 'hash');
    return something;
  },
});

export const mayHaveNoCaller = defineEndpoint({
  ...route,
  allow: 'anyone',
  needs: {},
  input: {},
  output: { 200: Something },
  async handle(_, { caller }) {
    // @ts-expect-error where anyone may call, nobody need be signed in
    return { id: caller.user_id, size: 1 };
  },
});

export const knowsItsCaller = defineEndpoint({
  ...route,
  allow: 'guest',
  needs: {},
  input: {},
  output: { 200: Something },
  async handle(_, { caller }) {
    return { id: caller.user_id, size: 1 };
  },
});

export const readsWhatIsNotInItsInput = defineEndpoint({
  ...route,
  method: 'POST',
  allow: 'developer',
  needs: {},
  input: { path, body: fields(z.strictObject({ name: z.string() })) },
  output: { 200: Something },
  async handle({ body, query }) {
    // @ts-expect-error the body has no such field
    const { title } = body;
    // @ts-expect-error and there is no query
    const { limit } = query;
    return { id: `${body.name} ${title} ${limit}`, size: 1 };
  },
});
