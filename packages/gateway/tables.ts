export const gatewayTables: readonly string[] = [
  'gateway.api_tokens',
  'gateway.user_limits',
  'gateway.token_changes',
  'gateway.usage',
];
