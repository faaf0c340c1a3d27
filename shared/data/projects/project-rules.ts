import * as z from 'zod';
import { line, paragraph } from '../../core/text/text-rules.ts';
import { TaggedName } from '../experiments/tracking-rules.ts';

// Rules of a project's fields, from a request, an MLflow client or an archive.

export const ProjectName = line(128);
export const ProjectDescription = paragraph(2000);
export const ProjectType = line(64);
export const ProjectTask = line(64);
export const CriterionName = line(128);
export const CriterionGoal = z.enum(['maximize', 'minimize'], 'must be maximize or minimize');

/** Maximum length of a project name from an MLflow client. It may contain any character. */
export const maxClientName = 500;
export const ClientProjectName = z
  .string()
  .min(1)
  .refine(
    (value) => value.trim() !== '' && value.length <= maxClientName,
    `exceeds the maximum length of ${maxClientName} characters`,
  );

/** Maximum length of a project's tag value, and so of a description from an MLflow client. */
export const maxProjectTag = 20_000;
export const ProjectTag = z
  .string()
  .max(maxProjectTag, `exceeds the maximum length of ${maxProjectTag} characters`);

/** Maximum bytes of a project's tags. Lists of projects read them too. */
export const projectTagsMaxBytes = 64_000;

/** Return the fault of a project's tags as a whole. Return undefined if they are valid. */
export function faultOfProjectTags(tags: Readonly<Record<string, string>>): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(tags));
  return bytes > projectTagsMaxBytes
    ? `the tags have ${bytes} bytes; at most ${projectTagsMaxBytes} are allowed`
    : undefined;
}

/** Rules of a project in an archive. They accept all values that a request or an MLflow client may set. */
export const AnyProjectName = z.union([ProjectName, ClientProjectName]);
export const AnyProjectDescription = z.union([ProjectDescription, ProjectTag]);
export const ProjectTags = z.record(TaggedName, ProjectTag).superRefine((tags, context) => {
  const message = faultOfProjectTags(tags);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
