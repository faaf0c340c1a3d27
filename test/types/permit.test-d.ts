// What `permit` may rest on: the input, the caller and the settings, and nothing that is read or written.
import * as z from 'zod';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';

const route = {
  name: 'readSomething',
  method: 'GET',
  path: '/something/{project_id}',
  summary: 'Something',
  needs: { records: readRecords },
  input: { path: z.strictObject({ project_id: z.string() }) },
  output: { 200: z.object({}) },
} as const;

export const permitsByWhatIsAskedFor = defineEndpoint({
  ...route,
  allow: 'anyone',
  permit({ path: { project_id } }, { caller, settings }) {
    if (project_id === settings.bucket || caller?.username === project_id) return;
    // @ts-expect-error where anyone may call, nobody need be signed in
    throw new Error(caller.username);
  },
  async handle() {
    return {};
  },
});

export const permitsBeforeAnythingIsRead = defineEndpoint({
  ...route,
  allow: 'viewer',
  // @ts-expect-error it does not get what the endpoint needs
  permit(_, { caller, records }) {
    throw new Error(`${caller.username} ${records}`);
  },
  async handle() {
    return {};
  },
});
