import type { Comments } from '../sticky-comment.ts';

/** The job of CI in which a check runs. */
export interface CiJob {
  provider: 'github' | 'gitlab' | undefined;
  /** Number of the pull or merge request. */
  request: number | undefined;
  /** The commit that the request shows; undefined for that of the checkout. */
  shown: string | undefined;
  /** Target branch of the request. */
  against: string | undefined;
  isFork: boolean;
  /** Number of the run and its attempt. */
  run: string;
  /** File that the provider shows as the summary of the job. */
  summary: string | undefined;
  /** What a comment lacks. */
  lacking: string | undefined;
  comments: Comments | undefined;
}
