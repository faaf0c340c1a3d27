/**
 * Variables that make MLflow clients (3.0 and later) upload large files in parts. Both are needed, because clients
 * use parts only from 500 MB by default. A function of a deployment accepts 4.4 MB.
 */
export const mlflowUploadVariables = {
  MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD: 'true',
  MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE: '4000000',
} as const;

/** The variables as `NAME=value`, for shells and messages. */
export const mlflowUploadAssignments = Object.entries(mlflowUploadVariables).map(
  ([name, value]) => `${name}=${value}`,
);
