"""An agent of Pipecat's quick start with everything as it comes, but for where it hears, thinks and speaks: at the servers that the
load tests name. Its recogniser gets whole utterances; the detectors of voice (Silero) and of ends of turns (Smart Turn) are those that
the package brings. Started by Pipecat's own development runner."""

import os

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.runner.run import main
from pipecat.runner.types import SmallWebRTCRunnerArguments
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.transports.base_transport import TransportParams
from pipecat.transports.smallwebrtc.transport import SmallWebRTCTransport
from pipecat.workers.runner import WorkerRunner

SPEECH = {"base_url": os.environ["SPEECH_URL"], "api_key": os.environ["SPEECH_KEY"]}
MODEL_URL = os.environ["MODEL_URL"]


async def bot(arguments: SmallWebRTCRunnerArguments):
    """One call."""
    transport = SmallWebRTCTransport(
        webrtc_connection=arguments.webrtc_connection,
        params=TransportParams(audio_in_enabled=True, audio_out_enabled=True),
    )
    stt = OpenAISTTService(**SPEECH, settings=OpenAISTTService.Settings(model="whisper-1"))
    tts = OpenAITTSService(**SPEECH, settings=OpenAITTSService.Settings(model="tts-1", voice="alloy"))
    llm = OpenAILLMService(
        base_url=MODEL_URL, api_key="none", settings=OpenAILLMService.Settings(model="bench")
    )
    context = LLMContext([{"role": "system", "content": "You answer questions."}])
    user, assistant = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    worker = PipelineWorker(
        Pipeline([transport.input(), stt, user, llm, tts, transport.output(), assistant])
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport, _client):
        await runner.cancel()

    await runner.run()


if __name__ == "__main__":
    main()
