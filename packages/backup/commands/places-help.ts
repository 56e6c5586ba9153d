/** What the help of each command says about places. */
export const placesHelp =
  '\n\nA place is a file, a folder (several backups, named by their time), or s3://bucket/prefix. The account of a bucket comes ' +
  'from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL, or ' +
  'from the settings backup.s3_*: of the configuration file; for create, and without a place, of the database too.';
