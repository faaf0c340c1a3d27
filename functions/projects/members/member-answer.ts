import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { Username } from '../../../shared/data/accounts/user.ts';
import { projectRoles } from '../../../shared/data/projects/member.ts';
import { projectId } from '../../../shared/http/definition/parameters.ts';

/** Path parameters of one member of a project. */
export const memberPath = z.strictObject({
  project_id: projectId,
  username: Username.describe('Name of the member, such as `ada`.'),
});

/** A member of a project, its owner included. */
export const MemberAnswer = z
  .object({
    user_id: Ulid,
    username: z.string(),
    role: z.enum(projectRoles),
    added_at: Timestamp.nullable().describe('When the project was shared with them; null for its owner.'),
  })
  .meta({ id: 'Member' });
