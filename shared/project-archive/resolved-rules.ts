import * as z from 'zod';
import {
  faultOfModel,
  LoggedModelName,
  maxRegistryItem,
  RegistryDescription,
  RegistryTag,
} from '../data/rules/model.ts';
import {
  AnyExperimentName,
  AnyNote,
  AnyParams,
  AnyTags,
  AnyTrackedName,
  DatasetRule,
  GitRule,
  ModelValues,
  maxLinks,
  Step,
  TaggedName,
} from '../data/rules/tracked.ts';
import { ArtifactPath } from '../data/rules/upload.ts';

// Rules of what people and programs wrote, once ids stand in the place of references. They look at the fields that they
// name; what a document has beside them is told by its own schema.

const Links = z.array(z.looseObject({ model_id: z.string().min(1), step: Step })).max(maxLinks);

export const FieldsRules = z.looseObject({
  name: AnyExperimentName,
  note: AnyNote.nullable(),
  tags: AnyTags,
  params: AnyParams,
  git: GitRule.nullable(),
  datasets: z.array(DatasetRule).max(maxLinks).optional(),
  models_read: Links.optional(),
  models_made: Links.optional(),
});

export const ModelRules = z
  .looseObject({
    name: LoggedModelName,
    folder: ArtifactPath.optional(),
    params: ModelValues,
    tags: ModelValues,
    metrics: z.array(z.looseObject({ name: AnyTrackedName, step: Step.nullable() })),
  })
  .superRefine((model, context) => {
    const message = faultOfModel(model);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const isWithinItem = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= maxRegistryItem;

/** Of a registered model, and of a version. */
export const RegistryRules = z
  .looseObject({ description: RegistryDescription, tags: z.record(TaggedName, RegistryTag) })
  .refine(isWithinItem, `has more than ${maxRegistryItem} bytes`);
