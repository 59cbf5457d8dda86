/** Forbidden addresses of requests: metadata services, where clouds hand out credentials, and the like. */
export const METADATA_ADDRESSES = [
  '169.254.169.254', // AWS, Azure, Google, Oracle, DigitalOcean, OpenStack …
  '169.254.170.2', // AWS tasks
  '169.254.170.23', // AWS pods
  '169.254.169.123', // AWS time
  '169.254.169.253', // AWS names
  '169.254.0.23', // Tencent
  '169.254.10.10', // Tencent
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure's host
  '192.0.0.192', // Oracle, older
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS pods
  'fd00:ec2::123',
  'fd00:ec2::253',
  'fd20:ce::254', // Google
  'fd00:42::42', // Scaleway
] as const;
