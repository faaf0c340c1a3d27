/**
 * Variables by which MLflow's clients since 3.0 send large files in parts, and not whole: both are needed, because they
 * begin at 500 MB by themselves. A function of a deployment takes 4.4 MB.
 */
export const mlflowUploadVariables = {
  MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD: 'true',
  MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE: '4000000',
} as const;

/** The same for a shell and for sentences. */
export const mlflowUploadAssignments = Object.entries(mlflowUploadVariables).map(
  ([name, value]) => `${name}=${value}`,
);
