"""Convenes a panel through `roundtable mcp`, as a coding assistant does, and checks what comes back."""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

QUESTION = {
    "question": "Which store?",
    "options": ["redis", "sqlite"],
    "evidence": [{"id": "LOG-1", "text": "p99 is 40 ms"}],
}


async def talk(program: str) -> None:
    server = StdioServerParameters(command=program, args=["mcp", "--model", "rehearsal"], env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        assert names == ["convene", "status", "result"], names
        assert all(tool.description for tool in tools)
        assert all(tool.output_schema for tool in tools[:2])

        async def call(tool: str, arguments: dict) -> dict:
            # The client checks the answer against the tool's output schema.
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, (tool, result.content)
            return result.structured_content

        async def refused(tool: str, arguments: dict) -> str:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, result)
            return result.content[0].text

        assert "at least two options" in await refused("convene", {**QUESTION, "options": ["redis"]})
        assert "do not fit" in await refused("convene", {"question": "Which store?"})
        assert "max_usd" in await refused("convene", {**QUESTION, "participants": ["openai/gpt-5-mini"]})

        started = await call("convene", QUESTION)
        session = {"session": started["session"]}
        assert (started["state"], started["seats"]) == ("open", 5), started
        status = await call("status", {**session, "wait_s": 30})
        assert (status["state"], status["sealed"]) == ("closed", 5), status
        result = await call("result", session)
        assert result["rehearsal"], result
        assert len(result["rounds"][-1]["seats"]) == 5, result


asyncio.run(asyncio.wait_for(talk(sys.argv[1]), 120))
print("ok: the Python client convened a panel, polled it, and read its result")
