import { compressionCourse } from './compression-course.ts';
import type { Course, Ground, JobKind } from './course.ts';
import { trainingCourse } from './training-course.ts';

/** Makes what a job of this kind needs, and its neighbour. */
export const prepareCourse = (kind: JobKind, ground: Ground): Promise<Course> =>
  kind === 'prune' || kind === 'quantize' ? compressionCourse(kind, ground) : trainingCourse(kind, ground);
