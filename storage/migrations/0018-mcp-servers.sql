-- A tool may be an MCP server, whose tools agents call.

alter table tools drop constraint tools_tool_type_check;
alter table tools add constraint tools_tool_type_check check (tool_type in ('webhook', 'client', 'mcp'));
