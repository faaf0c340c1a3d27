import * as z from 'zod';
import { line, paragraph } from '../../core/text/text-rules.ts';
import { TaggedName } from './tracked.ts';

// What the fields of a project are like, whoever brings them: a request, an MLflow client, or an archive.

export const ProjectName = line(128);
export const ProjectDescription = paragraph(2000);
export const ProjectType = line(64);
export const ProjectTask = line(64);
export const CriterionName = line(128);
export const CriterionGoal = z.enum(['maximize', 'minimize'], 'must be maximize or minimize');

/** Longest name that an MLflow client gives a project; it may hold any character. */
export const maxClientName = 500;
export const ClientProjectName = z
  .string()
  .min(1)
  .refine(
    (value) => value.trim() !== '' && value.length <= maxClientName,
    `exceeds the maximum length of ${maxClientName} characters`,
  );

/** Longest value of a tag of a project, and so of the description that an MLflow client gives it. */
const maxProjectTag = 20_000;
export const ProjectTag = z
  .string()
  .max(maxProjectTag, `exceeds the maximum length of ${maxProjectTag} characters`);

/** Most bytes of the tags of a project: lists read them with it. */
const tagsMaxBytes = 64_000;

/** What is wrong with the tags of a project together; undefined where nothing is. */
export function faultOfProjectTags(tags: Readonly<Record<string, string>>): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(tags));
  return bytes > tagsMaxBytes ? `they have ${bytes} bytes; at most ${tagsMaxBytes} are kept` : undefined;
}

/** A project as an archive brings it: all that one of these ways takes. */
export const AnyProjectName = z.union([ProjectName, ClientProjectName]);
export const AnyProjectDescription = z.union([ProjectDescription, ProjectTag]);
export const ProjectTags = z.record(TaggedName, ProjectTag).superRefine((tags, context) => {
  const message = faultOfProjectTags(tags);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
