import { archiveStories } from '../archive/archive-stories.ts';
import { projectStories } from './project-stories.ts';
import { registryStories } from './registry-stories.ts';
import type { Story } from './request-story.ts';
import { retentionStories } from './retention-stories.ts';
import { trackingStories } from './tracking-stories.ts';
import { uploadStories } from './upload-stories.ts';

/** Deeds of one request each, whose process is killed. */
export const stories: readonly Story[] = [
  ...trackingStories,
  ...uploadStories,
  ...registryStories,
  ...retentionStories,
  ...projectStories,
  ...archiveStories,
];
